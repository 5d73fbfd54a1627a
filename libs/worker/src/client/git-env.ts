/** Git credentials for the repo of a task. */
export interface GitCredentials {
  cloneUrl: string;
  username: string;
  token: string;
}

/** Credential helper that reads the environment, so that nothing is written to disk. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$PIPELINE_GIT_USERNAME" "$PIPELINE_GIT_TOKEN"; }; f';

/**
 * Returns variables with which git, and programs that use it, authenticate at the address of one repo only. They are appended
 * to the git configuration in `parent`. The credential helpers of the machine are disabled for this address, because their
 * credentials may exceed the permissions of the task.
 */
export function gitEnv(
  { cloneUrl, username, token }: GitCredentials,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const before = Number(parent.GIT_CONFIG_COUNT ?? 0) || 0;
  const addresses = [...new Set([cloneUrl, cloneUrl.replace(/\.git$/, '')])];
  // An empty helper clears the list of helpers.
  const settings = addresses.flatMap((address) =>
    ['', HELPER].map((helper) => [`credential.${address}.helper`, helper]),
  );
  const numbered = settings.flatMap(([key = '', value = ''], index) => [
    [`GIT_CONFIG_KEY_${before + index}`, key],
    [`GIT_CONFIG_VALUE_${before + index}`, value],
  ]);
  return {
    ...Object.fromEntries(numbered),
    GIT_CONFIG_COUNT: String(before + settings.length),
    GIT_TERMINAL_PROMPT: '0',
    PIPELINE_GIT_USERNAME: username,
    PIPELINE_GIT_TOKEN: token,
  };
}
