"""What tests are made of: programs that run beside the test, and nodes of the test's own."""
