import { itemsToEmbed, putEmbedding } from '@pipeline/store';
import { type Engine, inFencedTransaction } from '../context/context.ts';

const BATCH = 64;

/**
 * Makes the vectors of items that have none of the configured model yet; those of another model are replaced. One
 * batch; any number of replicas may do it at once, the last one wins.
 * @returns how many were made, and whether there may be more.
 * @throws EmbeddingError when the endpoint is away.
 */
export async function embedItems(engine: Engine): Promise<{ made: number; more: boolean }> {
  const { embedding, embeddingEndpoint: endpoint } = engine.settings().retrieval;
  if (!embedding || !endpoint || !engine.embedder) return { made: 0, more: false };
  const items = await itemsToEmbed(engine.store.fleet, endpoint.model, BATCH);
  if (items.length === 0) return { made: 0, more: false };
  const texts = items.map(({ title, summary }) => `${title}\n${summary}`);
  const vectors = await engine.embedder.embed(texts, endpoint);
  for (const [index, item] of items.entries()) {
    const vector = vectors[index] ?? [];
    await inFencedTransaction(engine, (tx) => putEmbedding(tx, item, { model: endpoint.model, vector }));
  }
  return { made: items.length, more: items.length === BATCH };
}
