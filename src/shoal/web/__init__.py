"""The page: it builds the same requests and runs the same jobs as the command line."""
