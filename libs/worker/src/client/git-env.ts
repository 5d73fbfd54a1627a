/** What the service gives for the repo of a task. */
export interface GitCredentials {
  cloneUrl: string;
  username: string;
  token: string;
}

/** Answers git from the environment, so that nothing is written to a disk. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$PIPELINE_GIT_USERNAME" "$PIPELINE_GIT_TOKEN"; }; f';

/**
 * Variables by which git, and all programs that use it, authenticate at the address of one repo, and there alone. They
 * come after the configuration that `parent` gives git the same way. The machine's own helpers are not asked at that
 * address: what they know might reach further than the task may.
 */
export function gitEnv(
  { cloneUrl, username, token }: GitCredentials,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const before = Number(parent.GIT_CONFIG_COUNT ?? 0) || 0;
  const addresses = [...new Set([cloneUrl, cloneUrl.replace(/\.git$/, '')])];
  // An empty helper forgets those that were named before.
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
