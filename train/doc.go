// Package train is the DP training core that every learned stage runs on:
// per-example clipping without per-example gradients, noise on a lattice,
// optimisers, and the loops (Fit, WGAN, LabelGAN, GSWGAN) as plain functions.
//
// Randomness comes from two places. A seed drives what is public: latents of
// generated rows and schedules. A paid privacy.Handle drives what must stay secret:
// Poisson samples, noise, and all randomness that belongs to single private rows
// (dropout masks, variational draws, the rows that a penalty pairs them with). If
// the latter were public, adding a row would shift the draws of the rows behind
// it, and the sensitivity of a sum of clipped gradients would no longer be one
// clip bound. Every draw is indexed by step and chunk, so a checkpoint needs no
// generator state and bits do not depend on the number of cores.
package train
