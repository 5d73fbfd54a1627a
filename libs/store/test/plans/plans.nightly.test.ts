// One file for Jest, so that the history is created once.
import './monitor-reads.ts';
import './metrics.ts';
