import { readFileSync } from 'node:fs';

type Source = Readonly<Record<string, string | undefined>>;

const SUFFIX = '_FILE';

/**
 * Completes environment variables with secrets that are mounted as files: a variable NAME that is not set is read from
 * the file that NAME_FILE names, without the line break at its end. A NAME that is set takes precedence.
 * @param names the variables that are completed; by default all.
 * @returns a copy of the variables. A file that cannot be read leaves NAME unset; the check of NAME then reports the file.
 */
export function withSecretFiles(env: Source, names?: readonly string[]): Source {
  const complete = { ...env };
  for (const [key, path] of Object.entries(env)) {
    const name = key.endsWith(SUFFIX) ? key.slice(0, -SUFFIX.length) : '';
    if (name !== '' && path && !env[name] && (names === undefined || names.includes(name)))
      complete[name] = contentOf(path);
  }
  return complete;
}

/** @returns what to add to the message that a required variable is not set: the file that should have contained it. */
export function unreadFile(name: string, env: Source): string {
  const path = env[name + SUFFIX];
  return path ? ` (${name}${SUFFIX} names ${path}, which is empty or cannot be read)` : '';
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
