import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { findProgram } from '../agents/problems.ts';

/** Folders that a task needs: nothing else of the machine can be written. */
export interface SandboxFolders {
  /** The work tree, read and written. */
  tree: string;
  /** Folders that are only read, such as the mirror that the work tree shares objects with. */
  readable: readonly string[];
  /** Folder that the command starts in; the work tree by default. */
  cwd?: string;
}

/** A program of a task with its whole environment. */
export interface TaskProgram {
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
}

/** Start of a program of a task: of the confiner, where there is one. */
export interface Launch {
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  /** Text for descriptor 3; null = none. Arguments of the confiner hold the keys of agents, and a command line is public. */
  input: string | null;
}

/** A way to confine the programs of a task. Nothing of a program, its environment included, reaches the confiner itself. */
export interface Sandbox {
  name: string;
  confine(program: TaskProgram, folders: SandboxFolders): Launch;
}

export const noSandbox: Sandbox = { name: 'none', confine: (program) => ({ ...program, input: null }) };

/** Environment of the confiner. */
const CONFINER_ENV = { PATH: '/usr/bin:/bin' };

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/etc', '/nix'];

export interface BubblewrapOptions {
  /** Path of bwrap. */
  program: string;
  path: string;
  home: string;
  /** Folders of the home folder with the settings of the agent, read and written. */
  agentHome: readonly string[];
  /** Further folders, only read: of an agent that is not on the PATH. */
  readable: readonly string[];
}

/**
 * Bubblewrap: own user, process and IPC namespaces without capabilities, system folders read-only, an empty home folder
 * except for programs on the PATH and the settings of the agent. The network is shared, because the agent needs its model.
 */
export function bubblewrap({ program, path, home, agentHome, readable: further }: BubblewrapOptions): Sandbox {
  const system = SYSTEM.filter((folder) => existsSync(folder)).flatMap((folder) => ['--ro-bind', folder, folder]);
  const programs = programFolders(path).flatMap((folder) => ['--ro-bind', folder, folder]);
  const own = agentHome.filter((folder) => existsSync(folder)).flatMap((folder) => ['--bind', folder, folder]);
  const fixed = [
    ...[
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      '--unshare-user',
      '--disable-userns',
      ...['--cap-drop', 'ALL'],
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run', '--dir', home],
    ...system,
    ...resolverFolder(),
    ...programs,
    ...further.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...own,
  ];
  return {
    name: 'bubblewrap',
    confine: ({ command, env }, { tree, readable, cwd = tree }) => {
      const options = [
        ...fixed,
        ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
        ...readable.flatMap((folder) => ['--ro-bind', folder, folder]),
        ...['--bind', tree, tree, '--chdir', cwd],
      ];
      return {
        command: [program, '--args', '3', '--', ...command],
        env: CONFINER_ENV,
        input: options.map((option) => `${option}\0`).join(''),
      };
    },
  };
}

/** Folders of the PATH outside the system folders, each with the libraries that npm installs beside it. */
function programFolders(path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '' && existsSync(folder));
  const real = folders.flatMap((folder) => [folder, realpathSync(folder)]);
  const libraries = real.filter((folder) => basename(folder) === 'bin').map((folder) => join(dirname(folder), 'lib'));
  // Programs of a package are links from node_modules/.bin into the packages beside it.
  const packages = real.filter((folder) => basename(folder) === '.bin').map(dirname);
  return [...new Set([...real, ...libraries.filter((folder) => existsSync(folder)), ...packages])].filter(
    (folder) => !SYSTEM.some((system) => folder === system || folder.startsWith(`${system}/`)),
  );
}

/** /etc/resolv.conf is often a link into /run. */
function resolverFolder(): string[] {
  const file = '/etc/resolv.conf';
  const folder = existsSync(file) ? dirname(realpathSync(file)) : '/etc';
  return folder.startsWith('/run/') ? ['--ro-bind', folder, folder] : [];
}

export const SANDBOXES = ['auto', 'bubblewrap', 'none'] as const;
export type SandboxChoice = (typeof SANDBOXES)[number];

/**
 * Returns the sandbox of this choice; `auto` is bubblewrap where it is installed.
 * @throws Error when bubblewrap is required and not installed.
 */
export function chooseSandbox(choice: SandboxChoice, options: Omit<BubblewrapOptions, 'program'>): Sandbox {
  if (choice === 'none') return noSandbox;
  const program = findProgram('bwrap', options.path);
  if (program !== null) return bubblewrap({ program, ...options });
  if (choice === 'auto') return noSandbox;
  throw new Error('--sandbox bubblewrap needs the program bwrap: apt-get install bubblewrap');
}
