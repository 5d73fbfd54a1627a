import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import { diffLines } from 'diff';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { type TrackTarget, trackInput } from './track-plans.ts';
import styles from './tracks.module.css';

type Prompt = Reply<'readTrackPrompt'>['prompt'];

const PARTS = [
  { field: 'seed_title', name: 'Title of its issues' },
  { field: 'seed_body', name: 'Body of its issues' },
  { field: 'instructions', name: 'Instructions to agents' },
] as const;

const usePrompt = (target: TrackTarget, version: number) => {
  const input = trackInput(target);
  return useQuery({
    ...read('readTrackPrompt', { ...input, params: { ...input.params, version: String(version) } }),
    staleTime: Number.POSITIVE_INFINITY, // a version never changes
    enabled: version > 0,
  });
};

/** A version of a prompt, or its difference from another one. */
export default function PromptDiff({ target, from, to }: { target: TrackTarget; from: number; to: number }) {
  const [old, shown] = [usePrompt(target, from), usePrompt(target, to)];
  const failed = [shown, old].find(({ error }) => error !== null);
  if (failed?.error)
    return (
      <FailureNote what="The version could not be read" error={failed.error} onRetry={() => void failed.refetch()} />
    );
  const prompt = shown.data?.prompt;
  if (!prompt || (from > 0 && !old.data)) return <Skeleton height={160} />;
  return PARTS.map(({ field, name }) => (
    <section key={field} className={layout.stack} aria-label={name}>
      <h3>{name}</h3>
      <PromptText prompt={prompt} old={from > 0 && from !== to ? old.data?.prompt : undefined} field={field} />
    </section>
  ));
}

interface PromptTextProps {
  prompt: Prompt;
  old: Prompt | undefined;
  field: (typeof PARTS)[number]['field'];
}

function PromptText({ prompt, old, field }: PromptTextProps) {
  if (!old) return <ScrolledText className={layout.code}>{prompt[field] || '(empty)'}</ScrolledText>;
  const parts = diffLines(`${old[field]}\n`, `${prompt[field]}\n`);
  if (parts.every(({ added, removed }) => !added && !removed)) return <p className={layout.muted}>No difference.</p>;
  return (
    <ScrolledText className={styles.diff}>
      {parts.map(({ value, added, removed }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
        <span key={place} className={added ? styles.added : removed ? styles.removed : undefined}>
          {lines(value, added ? '+ ' : removed ? '− ' : '  ')}
        </span>
      ))}
    </ScrolledText>
  );
}

/** Marks each line: a difference is never shown by colour alone. */
const lines = (text: string, mark: string): string =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => mark + line)
    .join('\n');
