/** System calls that fail with EPERM in a box: name, number of x64, number of arm64. */
const REFUSED: readonly (readonly [name: string, x64: number, arm64: number])[] = [
  // Keys of the session of the worker.
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  // Memory of other processes, such as the agent that started this one.
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  // Parts of the kernel that builds and tests do not use, where most of its vulnerabilities were found.
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
  // Calls that need capabilities: the kernel refuses them as well.
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['mount_setattr', 442, 442],
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
];

/** Constants of linux/audit.h for the architectures of Node.js. */
const ARCHITECTURES = [
  { name: 'x64', audit: 0xc000003e, number: 1 },
  { name: 'arm64', audit: 0xc00000b7, number: 2 },
] as const;

/** Instructions of linux/bpf_common.h. */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;

/** Results of linux/seccomp.h. */
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;
const EPERM = 1;

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;

/** Calls of the x32 ABI of x64 have numbers from here on. */
const X32 = 0x40000000;

/**
 * Returns the seccomp filter of a box as `bwrap --seccomp` reads it: an array of `struct sock_filter`. A program of another
 * architecture, for example of 32 bits, is killed: its calls have other numbers. Null = no filter is known for the machine.
 */
export function seccompFilter(machine: string = process.arch): Buffer | null {
  const found = ARCHITECTURES.find(({ name }) => name === machine);
  if (found === undefined) return null;
  const numbers = REFUSED.map((call) => call[found.number]);
  // The jumps skip the tests that follow, and the instruction that allows.
  const tests = numbers.map((number, index) => instruction(JUMP_IF_EQUAL, number, numbers.length - index));
  return Buffer.concat([
    instruction(LOAD, ARCHITECTURE),
    instruction(JUMP_IF_EQUAL, found.audit, 1),
    instruction(RETURN, KILL_PROCESS),
    instruction(LOAD, NUMBER),
    instruction(JUMP_IF_AT_LEAST, X32, numbers.length + 1),
    ...tests,
    instruction(RETURN, ALLOW),
    instruction(RETURN, FAIL + EPERM),
  ]);
}

/** Returns a `struct sock_filter`. @param skipped instructions that a jump skips when its condition is true. */
function instruction(code: number, operand: number, skipped = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(skipped, 2);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}
