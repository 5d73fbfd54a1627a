// One file for Jest, so that the history is made once.
import './monitor-reads.ts';
import './metrics.ts';
