//! The command line of the generator.

fn main() -> std::process::ExitCode {
    codegen_command::cli::main()
}
