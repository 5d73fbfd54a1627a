import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CONFINER_ENV, envText, initCommand, type Launch, type RunAs, type TaskProgram } from '@pipeline/worker';
import { pathFolders } from '../agents/problems.ts';
import { forwarded } from './egress.ts';
import { type BoxAccess, ProcessBox, type Sandbox } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { inMachine, MACHINE_ROOT, type Machines } from './vm.ts';

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/etc', '/nix'];

export interface BubblewrapOptions {
  /** Path of bwrap. */
  program: string;
  path: string;
  /** User of the programs; null = the user of this process, which must not be root. */
  user: RunAs | null;
  /** Further folders, only read: of an agent that is not on the PATH. */
  readable: readonly string[];
  /** Socket of the proxy that is the only way to the network; null = the network of the machine is shared. */
  egress: string | null;
  /** Virtual machines inside of the namespaces; null = none. */
  machines: Machines | null;
}

const FILTER = seccompFilter();

/**
 * Namespaces of a program: nothing in them has a right outside, and all of it ends with their first process. The filter of
 * system calls is in descriptor 5.
 */
const NAMESPACES = [
  ...(FILTER === null ? [] : ['--seccomp', '5']),
  ...['--die-with-parent', '--new-session', '--as-pid-1'],
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
];

/** The rights of root that a change of the user needs. */
const CAPABILITIES = ['SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => ['--cap-add', `CAP_${name}`]);

/**
 * Bubblewrap: own user, process, IPC and, where asked for, network namespaces without capabilities, system folders
 * read-only, no other folders than those of the box and of programs on the PATH.
 */
export function bubblewrap(options: BubblewrapOptions): Sandbox {
  const { program, path, user, readable, machines } = options;
  const devices = [...DEVICES, ...(machines?.accel === 'kvm' ? ['--dev-bind', '/dev/kvm', '/dev/kvm'] : [])];
  const shown = [...resolverFolder(), ...programFolders(path), ...readable];
  const launch =
    (access: BoxAccess) =>
    (task: TaskProgram): Launch => {
      const { way, namespaces, run } = networkOf(access, options, task);
      const all = { ...access, readable: [...shown, ...access.readable] };
      const view = [...(machines === null ? viewOf(all) : aroundMachine(machines, all)), ...way];
      const asUser = user === null ? null : asOtherUser(program, user, { namespaces, devices });
      const bwrap = asUser === null ? [...namespaces, ...devices, ...view] : [...asUser.view, ...view];
      const args = ['--args', '4', '--', ...(asUser?.command ?? []), ...initCommand(run)];
      return {
        command: user === null ? [program, ...args] : [...WITH_WORKER, program, ...args],
        env: CONFINER_ENV,
        inputs: [envText(run.env), bwrap.map((word) => `${word}\0`).join(''), FILTER ?? ''],
        isNamespace: true,
        takesSigterm: false,
      };
    };
  return {
    name: machines === null ? 'bubblewrap' : 'vm',
    user,
    isConfined: true,
    isNamespace: true,
    open: (access) => new ProcessBox(launch(access)),
  };
}

/** Returns what a program needs for its network: folders, namespaces, and a forwarder beside it. */
function networkOf({ network }: BoxAccess, { egress, machines }: BubblewrapOptions, task: TaskProgram) {
  const own = [...NAMESPACES, '--unshare-net'];
  const run = machines === null ? task : inMachine(machines, task, { network, isProxied: network && egress !== null });
  if (!network) return { way: [], namespaces: own, run };
  if (egress === null) return { way: [], namespaces: NAMESPACES, run };
  const way = [...readOnly(process.execPath), ...readWrite(egress)];
  return { way, namespaces: own, run: forwarded(egress, run) };
}

/**
 * Ends the programs of another user with the worker: the outer confiner has no right to send them the signal of its own end, so
 * it is the first process of a namespace, whose end the kernel makes the end of all.
 */
const WITH_WORKER: [string, ...string[]] = [
  'setpriv',
  '--pdeathsig',
  'KILL',
  '--',
  'unshare',
  '--pid',
  '--fork',
  '--kill-child',
  '--',
];

const DEVICES = ['--proc', '/proc', '--dev', '/dev'];

/**
 * Root makes the view, because the user may have no access to the parents of its folders, and becomes the user for good.
 * The user then makes the namespaces: inside and outside of them it is the same one, never root. The first namespace of
 * processes is that of the second confiner.
 */
function asOtherUser(
  program: string,
  { uid, gid }: RunAs,
  { namespaces, devices }: { namespaces: readonly string[]; devices: readonly string[] },
) {
  const become = ['setpriv', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups'];
  const forGood = ['--bounding-set', '-all', '--inh-caps', '-all', '--'];
  const view = [
    ...['--die-with-parent', '--as-pid-1', '--unshare-pid'],
    ...['--cap-drop', 'ALL', ...CAPABILITIES],
    // A user namespace may mount /proc only where it sees a whole one.
    ...['--bind', '/proc', '/proc', ...devices.slice(2)],
    ...readOnly(program),
  ];
  return { view, command: [...become, ...forGood, program, ...namespaces, '--bind', '/', '/', ...devices, '--'] };
}

/** Folders that programs see, below a place in the box. */
function viewOf({ readable, writable }: Pick<BoxAccess, 'readable' | 'writable'>, at = ''): string[] {
  return [
    ...['--perms', '1777', '--tmpfs', `${at}/tmp`, '--tmpfs', `${at}/run`],
    ...SYSTEM.filter((folder) => existsSync(folder)).flatMap((folder) => ['--ro-bind', folder, `${at}${folder}`]),
    ...readable.flatMap((path) => readOnly(path, at)),
    ...writable.flatMap((path) => readWrite(path, at)),
  ];
}

/** The box of a machine: the emulator sees its image, and the folders of the program only as those that it hands on. */
const aroundMachine = ({ image }: Machines, access: BoxAccess): string[] => [
  ...viewOf({ readable: [image], writable: [] }),
  ...[MACHINE_ROOT, `${MACHINE_ROOT}/proc`, `${MACHINE_ROOT}/dev`].flatMap((folder) => ['--dir', folder]),
  ...viewOf(access, MACHINE_ROOT),
];

const readOnly = (path: string, at = ''): string[] => [...parents(`${at}${path}`), '--ro-bind', path, `${at}${path}`];
const readWrite = (path: string, at = ''): string[] => [...parents(`${at}${path}`), '--bind', path, `${at}${path}`];

/** Bubblewrap makes missing parents for root alone. */
function parents(path: string): string[] {
  const all: string[] = [];
  for (let folder = dirname(path); folder !== '/' && !isSystem(folder); folder = dirname(folder)) all.unshift(folder);
  return all.flatMap((folder) => ['--dir', folder]);
}

const isSystem = (path: string): boolean => SYSTEM.some((system) => path === system || path.startsWith(`${system}/`));

/** Folders of the PATH outside the system folders, each with the libraries that npm installs beside it. */
function programFolders(path: string): string[] {
  const folders = pathFolders(path).filter((folder) => existsSync(folder));
  const real = folders.flatMap((folder) => [folder, realpathSync(folder)]);
  const libraries = real.filter((folder) => basename(folder) === 'bin').map((folder) => join(dirname(folder), 'lib'));
  // Programs of a package are links from node_modules/.bin into the packages beside it.
  const packages = real.filter((folder) => basename(folder) === '.bin').map(dirname);
  return [...new Set([...real, ...libraries.filter((folder) => existsSync(folder)), ...packages])].filter(
    (folder) => !isSystem(folder),
  );
}

/** /etc/resolv.conf is often a link into /run. */
function resolverFolder(): string[] {
  const file = '/etc/resolv.conf';
  const folder = existsSync(file) ? dirname(realpathSync(file)) : '/etc';
  return folder.startsWith('/run/') ? [folder] : [];
}
