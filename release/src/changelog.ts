/** The changelog in the format of Keep a Changelog: a section per release, and a link per section at the end. */

const UNRELEASED = 'Unreleased';

export interface ReleaseLine {
  readonly version: string;
  /** Day of the release, such as 2026-11-24. */
  readonly date: string;
  /** Address of the repository. */
  readonly repository: string;
  /** Version of the release before, if there is one. */
  readonly previous?: string | undefined;
}

/**
 * Returns the changelog with the unreleased changes as the section of a release, below an empty unreleased section.
 * @throws Error when there are no unreleased changes, or the version has a section already.
 */
export function withRelease(changelog: string, { version, date, repository, previous }: ReleaseLine): string {
  if (sectionOf(changelog, version) !== undefined) throw new Error(`CHANGELOG.md has a section for ${version} already`);
  if (!sectionOf(changelog, UNRELEASED)) throw new Error('CHANGELOG.md has no unreleased changes');
  const sections = changelog.replace(`## [${UNRELEASED}]\n`, () => `## [${UNRELEASED}]\n\n## [${version}] - ${date}\n`);
  const compare = (from: string, to: string) => `${repository}/compare/${from}...${to}`;
  const links = [
    `[${UNRELEASED}]: ${compare(`v${version}`, 'HEAD')}`,
    `[${version}]: ${previous ? compare(`v${previous}`, `v${version}`) : `${repository}/releases/tag/v${version}`}`,
  ];
  const older = linksOf(sections).filter((link) => !link.startsWith(`[${UNRELEASED}]`));
  return `${withoutLinks(sections)}\n\n${[...links, ...older].join('\n')}\n`;
}

/**
 * Returns the notes of a release in Markdown, for a page outside the repository: links lead to the files of the tag, and
 * every paragraph is one line, because release pages show line breaks.
 */
export function releaseNotes(changelog: string, version: string, repository: string): string {
  const section = sectionOf(changelog, version) ?? sectionOf(changelog, UNRELEASED);
  if (!section) throw new Error(`CHANGELOG.md has no changes for ${version}`);
  const absolute = section.replaceAll(
    /\]\((?![a-z]+:|#)([^)\s]+)\)/g,
    (_, target: string) => `](${repository}/blob/v${version}/${target})`,
  );
  return `${absolute.replaceAll(/(?<=\S)\n {2,}(?=[^\s-])/g, ' ')}\n`;
}

/** Returns true if the version has a section with changes. */
export const hasSection = (changelog: string, version: string): boolean => Boolean(sectionOf(changelog, version));

/** Text below the heading of a version; undefined = no such heading, empty = no changes. */
function sectionOf(changelog: string, version: string): string | undefined {
  const [, ...sections] = withoutLinks(changelog).split(/^## (?=\[)/m);
  const found = sections.find((section) => section.startsWith(`[${version}]`));
  return found?.slice(found.indexOf('\n') + 1).trim();
}

const LINK = /^\[[^\]\n]+\]: \S+$/gm;

const linksOf = (changelog: string): string[] => changelog.match(LINK) ?? [];

const withoutLinks = (changelog: string): string => changelog.replace(LINK, '').trimEnd();
