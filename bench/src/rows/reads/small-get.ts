import type { Row } from '../../runner/model.ts';
import { costOf, openReadWorld } from './world.ts';

/**
 * Goal 1: a small GET, from the check of its bearer token to its answer: `/api/cli/bootstrap?repo=…`, with request id,
 * validation, the right read on the primary and the data. Its anchors read nothing: node:http alone, and stock express.
 */
export const smallGetRow: Row = {
  goal: 1,
  title: 'small authenticated GET',
  async open(bench) {
    const world = await openReadWorld(bench);
    const raw = await world.peer('raw');
    const express = await world.peer('express');
    const asks = world.asksOf(({ slug }) => `/api/cli/bootstrap?repo=${slug}`);
    const ours = () => world.load('small', world.ours, asks);
    const plain = (peer: typeof raw) => () =>
      world.load('small-peer', { url: peer.url, pids: [peer.pid] }, [{ path: '/small', headers: {} }]);
    return {
      cases: [
        {
          title: 'small authenticated GET',
          unit: 'req/s',
          ours: { name: 'ours', sample: ours },
          anchors: [
            { contender: { name: 'raw node:http', sample: plain(raw) }, bound: { atLeast: 0.75 } },
            { contender: { name: 'stock express', sample: plain(express) }, bound: { atLeast: 1.1 } },
          ],
        },
        {
          title: 'small authenticated GET: CPU of the process',
          unit: 'us CPU',
          ours: {
            name: 'ours',
            sample: () => costOf(() => world.load('small', { url: world.api.url, pids: [world.api.pid] }, asks)),
          },
          anchors: [
            { contender: { name: 'raw node:http', sample: () => costOf(plain(raw)) }, bound: { atMost: 1.35 } },
          ],
        },
      ],
    };
  },
};
