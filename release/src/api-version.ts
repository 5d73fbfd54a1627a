/** The version of the HTTP APIs, which is independent of the version of the product. */
import { compareOpenApi } from 'api-smart-diff';
import { gt, inc, major, valid } from 'semver';

/** The file that states the version, and where. */
export const API_VERSION_FILE = 'libs/contract/src/wire/version.ts';
const DECLARED = /(?<=CONTRACT_VERSION = ')[^']+/;

export const OPENAPI_DOCUMENTS = ['docs/reference/openapi-hosted.json', 'docs/reference/openapi-monitor.json'] as const;

/** A document at the last release and now. */
export interface DocumentPair {
  readonly released: string;
  readonly current: string;
}

/** A change of a document, by the part of the version that it raises. */
export interface ApiChange {
  readonly raises: 'major' | 'minor' | 'patch';
  /** Such as `remove GET /health`, as the path of the document. */
  readonly what: string;
}

/** Returns what differs between two documents, but for the version itself. */
export function apiChanges({ released, current }: DocumentPair): ApiChange[] {
  const [before, after] = [parsed(released), parsed(current)];
  after.info.version = before.info.version;
  const { diffs } = compareOpenApi(before, after);
  return diffs.map(({ type, action, path }) => ({
    raises: type === 'breaking' ? 'major' : type === 'annotation' ? 'patch' : 'minor',
    what: `${action} ${path.join('/')}`,
  }));
}

/**
 * Checks that the version was raised since the last release as far as the changes of the documents require.
 * @param source text of `version.ts`.
 * @throws Error when it was not. The pull request with the change raises it.
 */
export function requireApiVersion(source: string, documents: readonly DocumentPair[]): void {
  const [declared = ''] = DECLARED.exec(source) ?? [];
  if (valid(declared) === null) throw new Error(`${API_VERSION_FILE} states no version`);
  const changes = documents.flatMap(apiChanges);
  const part = (['major', 'minor', 'patch'] as const).find((one) => changes.some(({ raises }) => raises === one));
  const [{ released } = { released: '' }] = documents;
  if (part === undefined) return;
  const { version } = parsed(released).info;
  const isRaised = part === 'major' ? major(declared) > major(version) : !gt(inc(version, part) ?? '', declared);
  if (isRaised) return;
  const list = changes.filter(({ raises }) => raises === part).map(({ what }) => `  ${what}`);
  throw new Error(
    `changes of the API since ${version} require a new ${part} version in ${API_VERSION_FILE}:\n${list.join('\n')}`,
  );
}

const parsed = (text: string) => JSON.parse(text) as { info: { version: string } };
