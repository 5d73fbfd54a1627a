import { z } from 'zod';
import { MAX_FILE_BYTES, MAX_INTEGER } from '../bounds.ts';
import { repoPath } from '../repo-path.ts';

/** A larger repository is mapped in part, and the map is marked. */
export const MAX_MAPPED_FILES = 20_000;
export const MAX_MAPPED_SYMBOLS = 50_000;

export const MappedFile = z.object({
  path: repoPath,
  language: z.string().min(1).max(50).nullable().default(null),
  /** Bytes. */
  size: z.int().min(0).max(MAX_FILE_BYTES).nullable().default(null),
  /** The blob's id: equal content has an equal id. */
  sha: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/, 'must be a git blob id')
    .nullable()
    .default(null),
  summary: z.string().min(1).max(2_000).nullable().default(null),
});
export type MappedFile = z.output<typeof MappedFile>;

export const MappedSymbol = z.object({
  path: repoPath,
  name: z.string().min(1).max(200),
  /** The language's term: function, class, heading. */
  kind: z.string().min(1).max(50),
  line: z.int().min(1).max(MAX_INTEGER),
});
export type MappedSymbol = z.output<typeof MappedSymbol>;
/** A symbol as stored with its file. */
export type FileSymbol = Omit<MappedSymbol, 'path'>;

type Files = readonly { path: string }[];

const repeated = (files: Files): string | undefined => {
  const seen = new Set<string>();
  return files.find(({ path }) => seen.size === seen.add(path).size)?.path;
};

const foreign = (files: Files, symbols: Files): string | undefined => {
  const known = new Set(files.map(({ path }) => path));
  return symbols.find(({ path }) => !known.has(path))?.path;
};

/** The files and symbols of a repository at one commit; it replaces the previous map. */
export const ScannedResult = z
  .object({
    headSha: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/, 'must be a hexadecimal commit id')
      .nullable()
      .default(null),
    /** True = the repository has more than the map lists. */
    truncated: z.boolean().default(false),
    files: z.array(MappedFile).max(MAX_MAPPED_FILES),
    symbols: z.array(MappedSymbol).max(MAX_MAPPED_SYMBOLS),
  })
  .superRefine(({ files, symbols }, context) => {
    const twice = repeated(files);
    if (twice !== undefined) context.addIssue({ code: 'custom', path: ['files'], message: `${twice} is listed twice` });
    const unknown = foreign(files, symbols);
    if (unknown === undefined) return;
    context.addIssue({ code: 'custom', path: ['symbols'], message: `${unknown} is not among the files` });
  });
export type ScannedResult = z.output<typeof ScannedResult>;
