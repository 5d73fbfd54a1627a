import type { PointerEvent, ReactNode } from 'react';
import { formatFull, type Zone } from '../format/time.ts';

interface TimeTextProps {
  /** ISO 8601. */
  at: string;
  zone: Zone;
  children: ReactNode;
}

/** A time as text. Its title, the whole date with its zone, is made when the pointer enters: rows of tables have many. */
export function TimeText({ at, zone, children }: TimeTextProps) {
  const showFull = ({ currentTarget }: PointerEvent<HTMLTimeElement>): void => {
    currentTarget.title = formatFull(Date.parse(at), zone);
  };
  return (
    <time dateTime={at} onPointerEnter={showFull}>
      {children}
    </time>
  );
}
