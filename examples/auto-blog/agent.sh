# Stands in for a language model: reads the prompt and the files on stdin, prints its answer.
# A file begins with a line such as: --- output/logs/2026-01-15/git.txt (57 bytes) ---
read -r prompt
lines=$(sed -e '/^--- .* ---$/d' -e '/^$/d')
case $prompt in
  Summarize*)
    echo "$prompt"
    echo "$lines" | sed 's/^/* /'
    ;;
  *)
    echo "# A day at the mill"
    echo
    echo "$lines" | sed -e '1d' -e 's/^\* \(.*\)/We \1./'
    ;;
esac
