import { type Html, html } from '@pipeline/domain';
import type { IssueRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { timestamp } from '../state/sandbox.ts';

export const link = (repo: RepoRecord): string => `/${repo.owner}/${repo.name}`;

export const stateOf = (issue: IssueRecord): string => (issue.pull?.mergedAt ? 'merged' : issue.state);

/** The title of an issue; what is between backticks is shown as code. */
export const titleOf = (title: string): Html[] =>
  // Every second part of the split is code.
  title.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

const HEX = /^[0-9a-f]{6}$/i;
/** The colour of labels that were created by name alone, as on GitHub. */
const GREY = 'ededed';
const PALETTE = ['bfd4f2', 'c2e0c6', 'fef2c0', 'f9d0c4', 'd4c5f9', 'c5def5', 'bfdadc', 'fbca04', 'fad8c7', 'e99695'];

/** Returns a colour for a label without one: that of its name up to the colon, so that labels of a kind look alike. */
function colourOf(name: string): string {
  const kind = name.split(':')[0] ?? '';
  const sum = [...kind].reduce((total, character) => (total * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 7);
  return PALETTE[sum % PALETTE.length] ?? GREY;
}

/** Returns black or white, whichever has more contrast on the colour: by its relative luminance (WCAG 2). */
export function textOn(hex: string): 'black' | 'white' {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? 'black' : 'white';
}

/** The labels of an issue in the colours of the repository. */
export function labels({ state }: Sandbox, repo: RepoRecord, issue: IssueRecord): Html[] {
  const colours = new Map(state.list('label', repo.id).map(({ name, color }) => [name, color]));
  return issue.labels.map((name) => {
    const known = colours.get(name) ?? GREY;
    const colour = HEX.test(known) && known !== GREY ? known : colourOf(name);
    return html`<span class="label" style="background:#${colour};color:${textOn(colour)}">${name}</span>`;
  });
}

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Returns how long ago a time was, such as `3 minutes ago`. */
export function agoOf(at: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(at);
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? ['', 0];
  if (length === 0) return 'just now';
  const count = Math.floor(ms / length);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

/** A time relative to the host's clock; the exact one is in its title. */
export const ago = (sandbox: Sandbox, at: string): Html =>
  html`<time datetime="${at}" title="${at}">${agoOf(at, timestamp(sandbox))}</time>`;
