/** Knowledge of a repository: one file for Jest, so that its environment is created once. */
import './intelligence-list.ts';
import './intelligence-moves.ts';
import './retrieval.ts';
import './embeddings.ts';
import './findings.ts';
