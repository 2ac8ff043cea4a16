-- From version 1, where each body was a frame of its own: what is in those frames is told from their rows by NULL.
ALTER TABLE body ADD COLUMN body_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE body ADD COLUMN body_length INTEGER;
ALTER TABLE body ADD COLUMN frame_length INTEGER;
