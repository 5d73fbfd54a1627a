import type { Seed } from './track.ts';

/** The host's limit for titles. */
const TITLE_LENGTH = 256;

interface SeedOf {
  track: string;
  label: string;
  prompt: { version: number; seed_title: string; seed_body: string };
  seed: Seed;
}

/**
 * Title and body of a track's issue: the texts of the prompt version, and what distinguishes this issue from others of
 * its track. The title names the theme, and numbers issues that are otherwise equal; the body ends with the issue's
 * origin.
 */
export function seedIssue({ track, label, prompt, seed }: SeedOf): { title: string; body: string; labels: string[] } {
  const theme = seed.theme === null ? '' : `: ${seed.theme}`;
  const count = seed.of > 1 ? ` (${seed.part}/${seed.of})` : '';
  const head = (prompt.seed_title.trim() || track) + theme;
  const about = seed.theme === null ? '' : `, about ${seed.theme}`;
  const origin = `From the track ${track}: size ${seed.size}${about}, prompt version ${prompt.version}.`;
  const labels = [label, seed.label ?? ''].filter((name) => name !== '');
  return {
    title: head.slice(0, TITLE_LENGTH - count.length).trimEnd() + count,
    body: prompt.seed_body.trim() === '' ? origin : `${prompt.seed_body.trimEnd()}\n\n---\n${origin}`,
    labels: [...new Set(labels)],
  };
}
