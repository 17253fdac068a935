//! The command line of the generator.

fn main() -> std::process::ExitCode {
    codegen::cli::main()
}
