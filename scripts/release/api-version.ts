/** The version of the HTTP APIs, which is independent of the version of the product. */
import { gte, inc, major, valid } from 'semver';
import type { Change } from '../../libs/contract-tests/src/diff/change.ts';
import { diffDocuments } from '../../libs/contract-tests/src/diff/diff-documents.ts';
import { OpenApiDocument } from '../../libs/contract-tests/src/diff/openapi-document.ts';

/** The file that states the version, and where. */
export const API_VERSION_FILE = 'libs/contract/src/wire/version.ts';
const DECLARED = /(?<=CONTRACT_VERSION = ')[^']+/;

export const OPENAPI_DOCUMENTS = ['docs/reference/openapi-hosted.json', 'docs/reference/openapi-monitor.json'] as const;

/** A document at the last release and now. */
export interface DocumentPair {
  readonly released: string;
  readonly current: string;
}

/**
 * Returns the text of `version.ts` with the version that the changes since the last release require: a new minor version
 * for additions, a new patch version for texts. A version that was raised far enough already stays.
 * @throws Error for a breaking change without a new major version, which only a person decides.
 */
export function withApiVersion(source: string, documents: readonly DocumentPair[]): string {
  const [declared = ''] = DECLARED.exec(source) ?? [];
  if (valid(declared) === null) throw new Error(`${API_VERSION_FILE} states no version`);
  const pairs = documents.map(({ released, current }) => [parsed(released), parsed(current)] as const);
  const [released] = pairs.map(([before]) => before.info.version);
  if (released === undefined) return source;
  const changes = pairs.flatMap(([before, after]) => {
    // The version itself is no change of the API.
    after.info.version = before.info.version;
    return diffDocuments(new OpenApiDocument(before), new OpenApiDocument(after));
  });
  return source.replace(DECLARED, requiredVersion(released, declared, changes));
}

const parsed = (text: string) => OpenApiDocument.parse(text).root as { info: { version: string } };

function requiredVersion(released: string, declared: string, changes: readonly Change[]): string {
  const breaking = changes.filter(({ level }) => level === 'breaking');
  if (breaking.length > 0) {
    if (major(declared) > major(released)) return declared;
    const list = breaking.map(({ rule, place }) => `  ${rule} ${place}`).join('\n');
    throw new Error(
      `changes of the API since ${released} break clients; undo them, or raise the major version in ${API_VERSION_FILE}:\n${list}`,
    );
  }
  if (changes.length === 0) return declared;
  const next = inc(released, changes.some(({ level }) => level === 'additive') ? 'minor' : 'patch');
  if (next === null) throw new Error(`${released} is no version`);
  return gte(declared, next) ? declared : next;
}
