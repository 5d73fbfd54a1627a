import { connect, type Socket } from 'node:net';
import type { Target } from './tally.ts';

/** The data of an event is a flat object: one opening brace is one event, wherever reads cut the text. */
const BRACE = 0x7b;

export interface Subscriber {
  socket: Socket;
  messages: number;
}

/**
 * Opens one stream by hand: http.request would cost more per read than the server does per write. All sockets read into
 * the one `room`. @param onRead gets each stretch that was read, after the header.
 */
export function subscribe(target: Target, room: Buffer, onRead: (bytes: Buffer) => void): Promise<Subscriber> {
  const { host, port, path, isStalled } = target;
  return new Promise((opened, failed) => {
    let isOpen = false;
    const callback = (octets: number): boolean => {
      let bytes = room.subarray(0, octets);
      if (!isOpen) {
        const head = bytes.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (!head.startsWith('HTTP/1.1 200') || end === -1) {
          socket.destroy();
          failed(new Error(`a stream was answered with ${head.slice(0, 200)}`));
          return false;
        }
        isOpen = true;
        bytes = bytes.subarray(end + 4);
        opened(subscriber);
      }
      subscriber.messages += countBraces(bytes);
      onRead(bytes);
      return !isStalled;
    };
    const socket = connect({ host, port, onread: { buffer: room, callback } });
    const subscriber: Subscriber = { socket, messages: 0 };
    socket.once('error', failed);
    socket.once('close', () => failed(new Error('a stream was closed before it began')));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\naccept: text/event-stream\r\n\r\n`);
  });
}

function countBraces(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(BRACE); at !== -1; at = bytes.indexOf(BRACE, at + 1)) count += 1;
  return count;
}
