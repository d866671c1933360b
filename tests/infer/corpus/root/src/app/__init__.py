"""The application."""

VERSION = "1.3.0"
