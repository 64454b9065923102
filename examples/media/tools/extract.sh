# Stands in for ffmpeg: takes the sound of a recording, at the volume $1, and leaves the pictures.
echo "volume $1"
sed -n 's/^sound: //p'
