import { itemsToEmbed, putEmbedding } from '@pipeline/store';
import { type Engine, inFencedTransaction } from '../context/context.ts';

const BATCH = 64;

/**
 * Computes missing vectors of items for the configured model; those of another model are replaced. One batch; any
 * number of replicas may run it concurrently, the last write wins.
 * @returns how many were computed, and whether there may be more.
 * @throws EmbeddingError when the endpoint is unavailable.
 */
export async function embedItems(engine: Engine): Promise<{ made: number; more: boolean }> {
  const { embedding, embeddingEndpoint: endpoint } = engine.settings().retrieval;
  if (!embedding || !endpoint || !engine.embedder) return { made: 0, more: false };
  const items = await itemsToEmbed(engine.store.db, endpoint.model, BATCH);
  if (items.length === 0) return { made: 0, more: false };
  const texts = items.map(({ title, summary }) => `${title}\n${summary}`);
  const vectors = await engine.embedder.embed(texts, endpoint);
  for (const [index, item] of items.entries()) {
    const vector = vectors[index] ?? [];
    await inFencedTransaction(engine, (tx) => putEmbedding(tx, item, { model: endpoint.model, vector }));
  }
  return { made: items.length, more: items.length === BATCH };
}
