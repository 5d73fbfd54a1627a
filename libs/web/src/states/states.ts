import type { State } from '@pipeline/domain';
import type { GlyphName } from '../glyphs/glyph-paths.ts';

/** The seven families of states; each stands for who moves an issue on. */
export type Family = 'intake' | 'agents' | 'review' | 'waiting' | 'failure' | 'people' | 'done';

interface StateLook {
  label: string;
  family: Family;
  glyph: GlyphName;
  /** Custom property of its colour, see design/tokens.css. */
  colour: `--state-${State}`;
}

const look = <Name extends State>(name: Name, label: string, family: Family, glyph: GlyphName): StateLook => ({
  label,
  family,
  glyph,
  colour: `--state-${name}`,
});

/** The states in the order of every chart, legend and board. */
export const STATES: Readonly<Record<State, StateLook>> = {
  new: look('new', 'New', 'intake', 'outline'),
  analyzing: look('analyzing', 'Analyzing', 'agents', 'quarter'),
  planning: look('planning', 'Planning', 'agents', 'half'),
  'ready-for-dev': look('ready-for-dev', 'Ready for dev', 'agents', 'three-quarters'),
  'in-review': look('in-review', 'In review', 'review', 'eye'),
  'changes-requested': look('changes-requested', 'Changes requested', 'review', 'return'),
  'merge-pending': look('merge-pending', 'Merge pending', 'review', 'merge'),
  'waiting-for-subtasks': look('waiting-for-subtasks', 'Waiting for subtasks', 'waiting', 'branch'),
  'dependency-blocked': look('dependency-blocked', 'Dependency blocked', 'waiting', 'chain'),
  'failure-blocked': look('failure-blocked', 'Failure blocked', 'failure', 'failure'),
  'needs-clarification': look('needs-clarification', 'Needs clarification', 'people', 'question'),
  'human-review-ready': look('human-review-ready', 'Human review ready', 'people', 'hand'),
  done: look('done', 'Done', 'done', 'tick'),
};

export const STATE_NAMES = Object.keys(STATES) as State[];

export const isState = (name: string | undefined | null): name is State =>
  name !== undefined && name !== null && Object.hasOwn(STATES, name);

export const FAMILIES: Readonly<Record<Family, string>> = {
  intake: 'Intake',
  agents: 'Agents',
  review: 'Review',
  waiting: 'Waiting',
  failure: 'Failure',
  people: 'People',
  done: 'Done',
};

export const labelOf = (name: string): string => (isState(name) ? STATES[name].label : name);
