# Homes with files of all kinds, mounts that show them elsewhere, and then the words.
python=$1
shift
mount -t tmpfs none /home 2>/dev/null || { echo nothing can be mounted; exit; }
mkdir /home/ada /home/bob m
"$python" -I probe.py make
# The top of a repository.
mkdir -p p/.git
for mount in home config above; do mkdir "m/$mount"; done
mount --bind /home/ada m/home
mount --bind /home/ada/.config m/config
mount --bind /home m/above
# Not everywhere can one be mounted in a user namespace.
mkdir m/overlay
mount -t overlay -o "lowerdir=/home/ada:/home/bob" none m/overlay 2>/dev/null || rmdir m/overlay
"$@"
umount m/home m/config m/above
! [ -d m/overlay ] || umount m/overlay
rm -r m
