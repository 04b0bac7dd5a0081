package train

import (
	"hash/fnv"
	"math/rand/v2"
)

// public returns the public randomness of one draw site: the seed, what it is
// for, and an index such as a step. Different sites are independent streams.
func public(seed uint64, purpose string, index uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(mix(seed)^h.Sum64(), mix(index+1)))
}

// mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014): nearby seeds and
// indices become unrelated words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
