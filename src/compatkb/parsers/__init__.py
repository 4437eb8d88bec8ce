"""What files of other projects say of versions: text in, typed statements with their places out."""
