"""Speed and memory, measured in one run beside a plain reference or a named peer."""
