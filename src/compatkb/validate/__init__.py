"""Claims against real installers and interpreters: cells, what runs them, and the evidence that they leave."""
