# What CI runs, but for other targets and the release build.
check: format lint doc test

format:
    cargo fmt --check

lint:
    cargo clippy --all-targets -- -D warnings

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# All tests, with the programs they need.
test:
    tools/test

# Prints the launches of docs/costs.md's table. The machine should have nothing else to do.
bench:
    cargo bench --bench launch
