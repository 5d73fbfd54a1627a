import type { STREAM_EVENTS, StreamEventType } from '@pipeline/contract';
import type { EventSourceMessage } from 'eventsource-parser';

type Payload<Type extends StreamEventType> = (typeof STREAM_EVENTS)[Type]['_zod']['output'];

/** An event of the stream. */
export type StreamEvent = {
  [Type in StreamEventType]: { id: number; type: Type; data: Payload<Type> };
}[StreamEventType];

/** Returns the event of a message; null for one that is not JSON or has no id. */
export function eventOf({ id, event, data }: EventSourceMessage): StreamEvent | null {
  const number = Number(id);
  if (!Number.isSafeInteger(number) || event === undefined) return null;
  try {
    return { id: number, type: event, data: JSON.parse(data) } as StreamEvent;
  } catch {
    return null;
  }
}
