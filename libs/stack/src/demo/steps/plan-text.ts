import { CHORE_KINDS, type Chore, type ChoreKind } from '../chores/chore.ts';

const LINE = /^Chore: (\w+) on `([^`\n]*)`$/m;

/** The plan as people read it; one line of it is what the later steps go by. */
export function planText(chore: Chore, files: string[]): string {
  return [
    `${chore.title}. Planned by the scripted demo agent (a simulation).`,
    '',
    `Chore: ${chore.kind} on \`${chore.target}\``,
    '',
    'Files:',
    ...files.map((path) => `- \`${path}\``),
  ].join('\n');
}

/** Parses the text of planText; null for the plan of another agent. */
export function parsePlan(text: string): { kind: ChoreKind; target: string } | null {
  const match = LINE.exec(text);
  const kind = CHORE_KINDS.find((known) => known === match?.[1]);
  return kind && match ? { kind, target: match[2] ?? '' } : null;
}
