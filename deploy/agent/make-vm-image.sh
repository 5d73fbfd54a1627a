#!/bin/sh
# Makes the kernel and the first file system of `pipeline-agent --sandbox vm` from packages of Debian.
# usage: make-vm-image.sh FOLDER        needs: apt-get install linux-image-amd64 busybox-static cpio kmod xz-utils
set -eu
target=${1:?usage: make-vm-image.sh FOLDER}
# Kernels for clouds have no 9p, by which a machine reads its files.
kernel=$(ls -1 /boot/vmlinuz-* 2>/dev/null | grep -v cloud | sort -V | tail -n 1)
[ -n "$kernel" ] || { echo 'no kernel in /boot: apt-get install linux-image-amd64' >&2; exit 1; }
busybox=$(command -v busybox) || { echo 'apt-get install busybox-static' >&2; exit 1; }
command -v cpio >/dev/null || { echo 'apt-get install cpio' >&2; exit 1; }
release=${kernel#/boot/vmlinuz-}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/root"
cp "$busybox" "$root/bin/busybox"

# What is part of the kernel itself is not a module.
for module in virtio_pci virtio_console virtio_net 9pnet_virtio 9p; do
  modprobe --set-version "$release" --show-depends "$module" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' | while read -r file; do
  name=$(basename "$file" .xz)
  case $file in *.xz) xz -dc "$file" >"$root/lib/$name" ;; *) cp "$file" "$root/lib/$name" ;; esac
  echo "$name" >>"$root/modules"
done

# The first process: it makes the file system of the box around the machine its root, and runs the program as its user.
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
# Without a console the first process has no standard streams.
exec </dev/null >/dev/null 2>&1
while read -r name; do insmod "/lib/$name"; done </modules
until [ "$(ls /sys/class/virtio-ports 2>/dev/null | wc -l)" = 4 ]; do usleep 2000; done
for port in /sys/class/virtio-ports/*; do ln -s "/dev/${port##*/}" "/run/$(cat "$port/name")"; done
for word in $(cat /proc/cmdline); do
  case $word in
    pipeline.user=*) user=${word#*=} ;;
    pipeline.now=*) date -s "@${word#*=}" >/dev/null ;;
  esac
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 root /root
mount -t proc -o hidepid=invisible proc /root/proc
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm
ln -s /proc/self/fd /root/dev/fd
for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${number%:*}" "/root/dev/${number#*:}"; done
mount -t devpts devpts /root/dev/pts
mount -t tmpfs -o mode=1777 tmpfs /root/dev/shm
text=$(cat /root/tmp/.program)
rm /root/tmp/.program
# /tmp is memory of the machine, where 9p lacks what programs do with temporary files; folders of the task in it stay.
mkdir /run/kept
for folder in $(ls -A /root/tmp); do
  mkdir "/run/kept/$folder"
  mount --bind "/root/tmp/$folder" "/run/kept/$folder"
done
mount -t tmpfs -o mode=1777 tmpfs /root/tmp
for folder in $(ls -A /run/kept); do
  mkdir "/root/tmp/$folder"
  mount --bind "/run/kept/$folder" "/root/tmp/$folder"
done
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
  ip addr add 10.0.2.15/24 dev eth0
  ip link set eth0 up
  ip route add default via 10.0.2.2
  # A resolver on a loopback address would be one of this machine.
  echo 'nameserver 10.0.2.3' >/run/resolv.conf
  mount --bind /run/resolv.conf "/root$(chroot /root readlink -f /etc/resolv.conf)"
fi
set -- --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all
run() {
  chroot /root /usr/bin/setpriv "$@" /bin/sh -c "$text"
  echo "$?" >/run/ended
}
mkfifo /run/ended
{ cat /run/in | run "$@" 2>&3 3>&- | cat >/run/out; } 3>&1 | cat >/run/err &
streams=$!
read -r status </run/ended
# What the program left behind holds its streams open; some of it may start more while it is ended.
while grep -q '^State:	[^Z]' "/proc/$streams/status"; do
  for process in /proc/[0-9]*; do
    grep -q "^Uid:	${user%:*}	" "$process/status" && kill -9 "${process#/proc/}"
  done
  usleep 2000
done
echo "$status" >/run/status
sync
reboot -f
INIT
chmod 755 "$root/init"

mkdir -p "$target"
(cd "$root" && find . | cpio --quiet -o -H newc | gzip) >"$target/initrd"
cp "$kernel" "$target/kernel"
chmod 644 "$target/initrd" "$target/kernel"
echo "$target: kernel $release and initrd"
