/** The text files of a checkout as a chore sees them; paths are relative to its root and use `/`. */
export interface Tree {
  readonly paths: readonly string[];
  /** null for what is missing, binary or not UTF-8: no chore touches those. */
  read(path: string): string | null;
}

export interface Edit {
  path: string;
  text: string;
}

export const CHORE_KINDS = ['toc', 'whitespace', 'docstrings', 'links', 'licence'] as const;
export type ChoreKind = (typeof CHORE_KINDS)[number];

export interface Chore {
  readonly kind: ChoreKind;
  /** A file, or a folder without a trailing slash; '' is the whole repository. */
  readonly target: string;
  /** Imperative, fit for a commit's subject. */
  readonly title: string;
  /**
   * The files whose text would change; none = nothing is left to do. Pure, and idempotent: on the tree it leaves
   * behind it finds nothing more. That is what lets a review run the chore again as its check.
   */
  edits(tree: Tree): Edit[];
}

/** Generated reports; no chore reads them, or each report would change the next one. */
export const REPORT_FOLDER = 'docs/reports';

/** The paths at or below a target, reports left out. */
export function pathsUnder(tree: Tree, target: string): string[] {
  const inside = (path: string) => target === '' || path === target || path.startsWith(`${target}/`);
  return tree.paths.filter((path) => inside(path) && !path.startsWith(`${REPORT_FOLDER}/`)).sort();
}

export const isMarkdown = (path: string): boolean => /\.(md|markdown)$/i.test(path);
export const isScript = (path: string): boolean =>
  /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/.test(path) && !/\.d\.[mc]?ts$/.test(path);

/** Keeps only edits that change something. */
export function changed(tree: Tree, edits: Edit[]): Edit[] {
  return edits.filter((edit) => tree.read(edit.path) !== edit.text);
}
