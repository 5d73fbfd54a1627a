import { MAX_INTEGER } from './bounds.ts';
import { AppError } from './errors.ts';

export interface Slug {
  owner: string;
  name: string;
}

/** Two segments separated by one slash, neither of them `.` or `..`: they end up in paths and addresses. */
export const SLUG_PATTERN = /^(?!\.{1,2}\/)[A-Za-z0-9._-]{1,100}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

/** Two segments and the slash. */
const MAX_SLUG = 201;

/**
 * Parses `owner/name` as spelt on the host.
 * @returns null when it is not two segments separated by one slash.
 */
export function parseSlug(value: unknown): Slug | null {
  if (typeof value !== 'string' || value.length > MAX_SLUG || !SLUG_PATTERN.test(value)) return null;
  const [owner = '', name = ''] = value.split('/');
  return { owner, name };
}

/** The form in which slugs are compared; they are displayed as spelt on the host. */
export const slugKey = (slug: Slug): string => `${slug.owner}/${slug.name}`.toLowerCase();

export const formatSlug = (slug: Slug): string => `${slug.owner}/${slug.name}`;

/** The largest issue number that the store accepts. */
export const MAX_ISSUE_NUMBER = MAX_INTEGER;

/** A positive integer in a path segment; null for anything else, leading zeros and signs included. */
export function parseIssueNumber(segment: string): number | null {
  const number = /^[1-9]\d{0,9}$/.test(segment) ? Number(segment) : 0;
  return number > 0 && number <= MAX_ISSUE_NUMBER ? number : null;
}

/** A slug, the sign, ten digits and surrounding blanks. */
const MAX_REF = 300;

/** `#12` in the issue's own repo or `owner/name#12` in another one. */
export function parseIssueRef(reference: string, home: Slug): { repo: Slug; number: number } | null {
  if (reference.length > MAX_REF) return null;
  const [slug, digits, ...rest] = reference.trim().split('#');
  const number = parseIssueNumber(digits ?? '');
  if (rest.length > 0 || number === null) return null;
  const repo = slug === '' ? home : parseSlug(slug);
  return repo && { repo, number };
}

export const formatIssueRef = (repo: Slug, number: number): string => `${formatSlug(repo)}#${number}`;

/** @throws AppError INVALID_INPUT naming the expected form. */
export function requireSlug(value: unknown): Slug {
  const slug = parseSlug(value);
  if (!slug) throw new AppError('INVALID_INPUT', `repo must be owner/name, got ${JSON.stringify(value)}`);
  return slug;
}
