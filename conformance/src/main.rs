//! The command line of the suite.

fn main() -> std::process::ExitCode {
    conformance::cli::main()
}
