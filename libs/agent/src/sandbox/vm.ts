import { envText, quoted, type TaskProgram } from '@pipeline/worker';
import { proxyEnv } from './egress.ts';

/** Virtual machines of a box: each program runs in one of its own. */
export interface Machines {
  /** Path of the emulator. */
  program: string;
  /** Folder with `kernel` and `initrd`, as deploy/agent/make-vm-image.sh makes them. */
  image: string;
  accel: Accel;
}

/** kvm = with the virtualisation of the processor; tcg = emulated, some ten times slower. */
export const ACCELS = ['kvm', 'tcg'] as const;
export type Accel = (typeof ACCELS)[number];

/** Emulator of the architectures that have this kind of machine. */
export const EMULATOR: Partial<Record<string, string>> = { x64: 'qemu-system-x86_64' };

/** The small machine has no timer that its kernel finds without the help of KVM. */
const MACHINE: Record<Accel, readonly string[]> = {
  kvm: ['-M', 'microvm,pcie=on,rtc=off,accel=kvm', '-cpu', 'host,vmx=off,svm=off'],
  tcg: ['-M', 'q35,accel=tcg', '-cpu', 'max'],
};

/** Memory of a machine; it takes what its programs use. */
const MEMORY = '2G';

/** Gateway of the network of a machine: the loopback interface of the box around it. */
const GATEWAY = '10.0.2.2';

/** Folder of a box that is the root of its machines: what the box shows, without its processes and devices. */
export const MACHINE_ROOT = '/run/root';

/**
 * Starts a machine. Its files are those of MACHINE_ROOT. The standard streams of the program and its exit status are ports
 * of the machine. The program with its environment is a file that is removed before it starts: the command line of the
 * emulator is public. Both together have at most 128 KiB, the longest variable of Linux.
 */
const START = `
image=$1 emulator=$2; shift 2
umask 077
printf %s "$PIPELINE_PROGRAM" >${MACHINE_ROOT}/tmp/.program
mkfifo /tmp/out /tmp/err
cat /tmp/out & cat /tmp/err >&2 &
port() { echo "-device virtserialport,chardev=$1,name=$1"; }
env -i PATH="$PATH" "$emulator" "$@" -no-user-config -nodefaults -display none -no-reboot -m ${MEMORY} \
  -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny -kernel "$image/kernel" -initrd "$image/initrd" \
  -append "quiet panic=-1 reboot=t pipeline.user=$(id -u):$(id -g) pipeline.now=$(date +%s)" \
  -fsdev local,id=root,path=${MACHINE_ROOT},security_model=none,multidevs=remap \
  -device virtio-9p-pci,fsdev=root,mount_tag=root -device virtio-serial-pci \
  -chardev stdio,id=in,signal=off $(port in) -chardev file,id=out,path=/tmp/out $(port out) \
  -chardev file,id=err,path=/tmp/err $(port err) -chardev file,id=status,path=/tmp/status $(port status) \
  >/dev/null || exit 126
wait
read -r status </tmp/status || status=126
exit "$status"`;

/** Variables by which programs in a machine use the forwarder of the box around it. */
const PROXY = proxyEnv(GATEWAY);

/** Returns the program that runs another one in a machine. */
export function inMachine(
  { program, image, accel }: Machines,
  { command, env, cwd }: TaskProgram,
  { network, isProxied }: { network: boolean; isProxied: boolean },
): TaskProgram {
  const variables = envText({ ...env, ...(isProxied && PROXY) });
  const text = `${variables}cd ${quoted(cwd)} || exit 126\nexec ${command.map(quoted).join(' ')}\n`;
  const machine = MACHINE[accel];
  const net = network ? ['-netdev', 'user,id=net,ipv6=off', '-device', 'virtio-net-pci,netdev=net'] : [];
  return {
    command: ['/bin/sh', '-c', START, 'vm', image, program, ...machine, ...net],
    env: { PATH: '/usr/bin:/bin', PIPELINE_PROGRAM: text },
    cwd: '/',
  };
}
