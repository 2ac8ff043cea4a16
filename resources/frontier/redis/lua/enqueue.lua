#!lua
-- ARGV: key, record without its age; for each URL. Returns new, known, due again, excluded.
--@include domain.lua
--@include record.lua
--@include queue.lua
--@include add.lua
for i = 1, #ARGV, 2 do add(ARGV[i], ARGV[i + 1]) end
write_queue()
grow(write_counts())
return added
