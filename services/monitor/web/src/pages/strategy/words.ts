import type { Snapshot } from './strategy-plans.ts';

type Change = Snapshot['changes'][number];

interface Entry {
  size?: unknown;
  count?: unknown;
  theme?: unknown;
}

/** A slate in words: `2 small (refunds), 1 medium`. */
export const slateInWords = (slate: unknown): string =>
  Array.isArray(slate) && slate.length > 0
    ? slate
        .map(({ size, count, theme }: Entry) => `${String(count)} ${String(size)}${theme ? ` (${String(theme)})` : ''}`)
        .join(', ')
    : 'the default slate';

const valueInWords = (field: Change['field'], value: unknown): string => {
  if (field === 'proposal') return slateInWords(value);
  if (field === 'enabled') return value === true ? 'on' : 'off';
  return String(value);
};

const FIELDS = { enabled: 'switch', weight: 'weight', proposal: 'slate' } as const satisfies Record<
  Change['field'],
  string
>;

/** A change of a track: `tests: weight 1 → 2`. */
export const changeInWords = ({ track, field, from, to }: Change): string =>
  `${track}: ${FIELDS[field]} ${valueInWords(field, from)} → ${valueInWords(field, to)}`;

interface Envelope {
  max_auto_size: string;
  prefer: readonly string[];
  avoid: readonly string[];
  escalate_when: readonly string[];
}

/** The limits of a charter as sentences. */
export function envelopeInWords({ max_auto_size, prefer, avoid, escalate_when }: Envelope): string[] {
  const named = (terms: readonly string[], words: string, none: string): string =>
    terms.length === 0 ? none : `${words} ${terms.join(', ')}.`;
  return [
    `Work up to size ${max_auto_size} is increased without an operator.`,
    named(prefer, 'Where there is a choice, increase', 'There is no preference.'),
    named(avoid, 'Never increase', 'Nothing is forbidden.'),
    named(escalate_when, 'Ask an operator about', 'No subject needs an operator.'),
  ];
}
