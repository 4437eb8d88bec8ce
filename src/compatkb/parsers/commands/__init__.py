"""What commands of shells install, per tool."""
