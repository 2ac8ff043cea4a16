"""What every back-end does, one behaviour a test. Times are small numbers: nothing here reads a clock."""
