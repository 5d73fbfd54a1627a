/** The commands that the documents show, and what runs each of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMarkdown } from '../../libs/site/src/pages/markdown.ts';
import { ROOT } from './workspace.ts';

/** Languages of blocks that a reader may copy into a shell: a shell or none. */
const SHELL = new Set(['', 'sh', 'bash', 'zsh', 'fish', 'shell', 'console', 'text']);

export interface CommandBlock {
  readonly document: string;
  /** The first line, which names the block. */
  readonly line: string;
}

/** An entry of `shell-commands.json`: the test that runs the commands, or why none does. */
export interface CommandEntry extends CommandBlock {
  /** Repository path of the program or test that runs the commands. */
  readonly test?: string;
  readonly reason?: string;
}

type Parsed = ReturnType<typeof parseMarkdown> | ReturnType<typeof parseMarkdown>['children'][number];

/** All blocks of a document that may hold commands, in lists and quotes as well. */
export function commandBlocks(document: string, text: string): CommandBlock[] {
  const blocksIn = (node: Parsed): CommandBlock[] => {
    if (node.type === 'code' && SHELL.has(node.lang ?? '')) {
      return [{ document, line: node.value.trimStart().split('\n', 1)[0]?.trimEnd() ?? '' }];
    }
    return 'children' in node ? node.children.flatMap((child) => blocksIn(child as Parsed)) : [];
  };
  return blocksIn(parseMarkdown(text));
}

const nameOf = ({ document, line }: CommandBlock): string => `${document}: ${line}`;

/**
 * Compares blocks with entries. Blocks of one document with the same first line need as many entries.
 * @returns one line for each difference.
 */
export function commandDifferences(
  blocks: readonly CommandBlock[],
  entries: readonly CommandEntry[],
  exists: (path: string) => boolean,
): string[] {
  const listed = entries.map(nameOf);
  const shown = blocks.map(nameOf);
  return [
    ...surplus(shown, listed).map((name) => `${name}: no entry names a test or a reason`),
    ...surplus(listed, shown).map((name) => `${name}: the document has no such block`),
    ...entries.flatMap((entry) => {
      if ((entry.test === undefined) === (entry.reason === undefined)) {
        return [`${nameOf(entry)}: name either a test or a reason`];
      }
      return entry.test === undefined || exists(entry.test) ? [] : [`${nameOf(entry)}: ${entry.test} does not exist`];
    }),
  ];
}

/** The names that the first list has more often than the second. */
function surplus(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return names.filter((name) => {
    const index = left.indexOf(name);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

export function readEntries(): CommandEntry[] {
  return JSON.parse(readFileSync(join(ROOT, 'scripts/checks/shell-commands.json'), 'utf8'));
}
