const AUTHOR = 'Pipeline demo';
const EMAIL = 'demo@pipeline.invalid';

/**
 * The environment in which the agent's git runs: nothing of the machine's own git settings, hooks or repositories,
 * no question at a terminal, and the token as a header for the clone URL's host only (never on a command line).
 */
export function gitEnv(
  parent: Record<string, string | undefined>,
  cloneUrl: string,
  token: string | null,
): Record<string, string> {
  const kept = Object.entries(parent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('GIT_'),
  );
  const url = /^https?:/.test(cloneUrl) ? new URL(cloneUrl) : null;
  const settings: [string, string][] = [
    ['core.autocrlf', 'false'],
    ['core.hooksPath', '/dev/null'],
  ];
  if (url && token && url.username === '') {
    const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
    settings.push([`http.${url.origin}/.extraHeader`, `Authorization: Basic ${basic}`]);
  }
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: AUTHOR,
    GIT_AUTHOR_EMAIL: EMAIL,
    GIT_COMMITTER_NAME: AUTHOR,
    GIT_COMMITTER_EMAIL: EMAIL,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
