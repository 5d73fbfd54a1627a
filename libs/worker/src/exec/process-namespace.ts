import { spawnSync } from 'node:child_process';
import { CONFINER_ENV, envText, initCommand, type Launch, type TaskProgram } from './contained.ts';
import { type RunAs, spawnAs } from './user.ts';

/** Starts programs without a sandbox. */
export interface ProcessStarter {
  /** True = nothing that a program starts outlives it. */
  isNamespace: boolean;
  launch(program: TaskProgram): Launch;
}

/**
 * Returns how programs of this user are started: each in a process namespace, where the machine permits it (a user
 * namespace for other users than root, which containers often refuse), otherwise in a process group, which they can leave.
 */
export function processStarter(user: RunAs | null): ProcessStarter {
  const confiner = namespaceOf(user);
  const isNamespace = spawnSync(confiner[0], [...confiner.slice(1), 'true'], { env: CONFINER_ENV }).status === 0;
  const launch = (program: TaskProgram): Launch => {
    const init = initCommand(program);
    const common = { env: CONFINER_ENV, inputs: [envText(program.env)], isNamespace, takesSigterm: true };
    return isNamespace
      ? { ...common, command: [...confiner, ...init] }
      : { ...common, command: init, ...spawnAs(user) };
  };
  return { isNamespace, launch };
}

/** The namespace ends with the worker as well. A change of the user clears that request, so it is repeated. */
function namespaceOf(user: RunAs | null): [string, ...string[]] {
  const isRoot = process.getuid?.() === 0;
  const own = isRoot ? [] : ['--user', '--map-current-user'];
  const as = ['setpriv', '--reuid', `${user?.uid}`, '--regid', `${user?.gid}`, '--clear-groups', '--pdeathsig', 'KILL'];
  const unshare = ['unshare', ...own, '--pid', '--fork', '--kill-child', '--'];
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...unshare, ...(user === null ? [] : [...as, '--'])];
}
