import { posix } from 'node:path';
import { type Chore, type ChoreKind, changed, pathsUnder, REPORT_FOLDER, type Tree } from './chore.ts';

/** One line of a report: a place in the repository and the remark about it. */
export interface Entry {
  path: string;
  /** 1-based. */
  line: number;
  text: string;
}

export interface ReportSpec {
  kind: ChoreKind;
  /** Heading of the report, such as "Missing docstrings". */
  heading: string;
  /** Selects the files that are inspected. */
  suits: (path: string) => boolean;
  inspect: (path: string, text: string, tree: Tree) => Entry[];
}

/** The file a report is kept in: one per kind and target, so that two reports never share a file. */
const reportPath = (kind: ChoreKind, target: string): string =>
  `${REPORT_FOLDER}/${kind}-${
    target === ''
      ? 'all'
      : target
          .split(/[^A-Za-z0-9]+/)
          .filter(Boolean)
          .join('-')
  }.md`;

const cell = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\|`<>[\]]/g, '\\$&');

function linkTo(entry: Entry): string {
  const href = posix.relative(REPORT_FOLDER, entry.path).split('/').map(encodeURIComponent).join('/');
  return `[${cell(entry.path)}:${entry.line}](${href}#L${entry.line})`;
}

/** A report of a chore as a Markdown page. The same tree gives the same page: no date, no order of chance. */
function renderReport(spec: ReportSpec, target: string, entries: Entry[], looked: number): string {
  const scope = target === '' ? 'the whole repository' : `\`${target}\``;
  const head = [
    `# ${spec.heading}: ${target === '' ? 'everything' : target}`,
    '',
    `Generated from ${scope}: ${looked} files looked at, ${entries.length} findings.`,
  ];
  const rows = entries.map((entry) => `| ${linkTo(entry)} | ${cell(entry.text)} |`);
  const table = rows.length > 0 ? ['', '| Place | Finding |', '| --- | --- |', ...rows] : [];
  return `${[...head, ...table].join('\n')}\n`;
}

/** Returns the entries that a report would have now, and the number of inspected files. */
function reportEntries(spec: ReportSpec, target: string, tree: Tree): { entries: Entry[]; looked: number } {
  const paths = pathsUnder(tree, target).filter(spec.suits);
  return { entries: paths.flatMap((path) => spec.inspect(path, tree.read(path) ?? '', tree)), looked: paths.length };
}

export function reportChore(spec: ReportSpec, target: string): Chore {
  return {
    kind: spec.kind,
    target,
    title: `${spec.heading} in ${target || 'the repository'}: report`,
    edits(tree) {
      const { entries, looked } = reportEntries(spec, target, tree);
      return changed(tree, [
        { path: reportPath(spec.kind, target), text: renderReport(spec, target, entries, looked) },
      ]);
    },
  };
}
