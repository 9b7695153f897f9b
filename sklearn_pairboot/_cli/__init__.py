"""Parts of the command line: options, files, the question they put, what is written."""
