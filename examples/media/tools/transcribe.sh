# Stands in for a transcription service: busy when it is first asked for a file, there the second time.
asked=".asked-${1##*/}"
if mkdir "$asked" 2>/dev/null; then
  echo "busy, ask again" >&2
  exit 75
fi
rmdir "$asked"
sed 1d "$1"
