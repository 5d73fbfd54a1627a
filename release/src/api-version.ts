/** The version of the HTTP APIs, which is independent of the version of the product. */
import { gt, valid } from 'semver';

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
 * Checks that the version was raised since the last release if the documents changed.
 * @param source text of `version.ts`.
 * @throws Error when it was not: only a person decides whether a change breaks clients.
 */
export function requireApiVersion(source: string, documents: readonly DocumentPair[]): void {
  const [declared = ''] = DECLARED.exec(source) ?? [];
  if (valid(declared) === null) throw new Error(`${API_VERSION_FILE} states no version`);
  for (const { released, current } of documents) {
    const [before, after] = [parsed(released), parsed(current)];
    if (withoutVersion(before) === withoutVersion(after) || gt(declared, before.info.version)) continue;
    throw new Error(
      `the API changed since ${before.info.version}: raise the version in ${API_VERSION_FILE} (major: breaks clients, ` +
        'minor: additions, patch: texts), then npm run generate',
    );
  }
}

interface OpenApi {
  readonly info: { readonly version: string };
}

const parsed = (text: string) => JSON.parse(text) as OpenApi;

const withoutVersion = (document: OpenApi): string =>
  JSON.stringify({ ...document, info: { ...document.info, version: '' } });
