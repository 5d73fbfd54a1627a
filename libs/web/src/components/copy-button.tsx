import { useState } from 'react';
import { after } from '../timing/timers.ts';
import { Button } from './button.tsx';

const SHOWN_MS = 1_500;

/** Copies a text; confirms it for a moment. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    after(SHOWN_MS, () => setCopied(false));
  };
  return (
    <Button
      kind="quiet"
      glyph={copied ? 'tick' : 'copy'}
      aria-label={copied ? `${what} copied` : `Copy ${what}`}
      onPress={() => void copy().catch(() => undefined)}
    />
  );
}
